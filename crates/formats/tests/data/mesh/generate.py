import gmsh, meshio, numpy as np, sys
def model():
    gmsh.initialize(); gmsh.option.setNumber("General.Terminal",0)
    gmsh.model.add("b")
    gmsh.model.occ.addBox(0,0,0,0.04,0.02,0.02)
    gmsh.model.occ.synchronize()
    gmsh.option.setNumber("Mesh.MeshSizeMin",0.03);gmsh.option.setNumber("Mesh.MeshSizeMax",0.03)
    gmsh.model.addPhysicalGroup(3,[1],7,"body of rubber")
    gmsh.model.addPhysicalGroup(2,[1],2,"clamp")
    gmsh.model.addPhysicalGroup(2,[1,2],3)
    gmsh.model.addPhysicalGroup(0,[8],5,"corner")
    gmsh.model.addPhysicalGroup(1,[1],6,"edge")
    gmsh.model.mesh.generate(3)
model()
gmsh.option.setNumber("Mesh.SaveAll",0)
for v,vn in [(2.2,"22"),(4.1,"41")]:
    for b in (0,1):
        gmsh.option.setNumber("Mesh.MshFileVersion",v); gmsh.option.setNumber("Mesh.Binary",b)
        gmsh.write(f"box_{vn}_{'binary' if b else 'ascii'}.msh")
gmsh.option.setNumber("Mesh.Binary",0)
gmsh.write("box_gmsh.vtk")
gmsh.option.setNumber("Mesh.Binary",1)
gmsh.write("box_gmsh_binary.vtk")
gmsh.model.mesh.setOrder(2)
gmsh.option.setNumber("Mesh.Binary",0)
gmsh.write("box_second_order.msh")
gmsh.finalize()
m=meshio.read("box_41_ascii.msh")
cells=[c for c in m.cells if c.type in("triangle","tetra")]
idx=[i for i,c in enumerate(m.cells) if c.type in("triangle","tetra")]
m2=meshio.Mesh(m.points,cells,cell_data={"part":[m.cell_data["gmsh:physical"][i].astype(np.int64) for i in idx],"w":[np.random.rand(len(c.data)) for c in cells]},point_data={"u":m.points*2.0})
meshio.vtk.write("box_meshio_ascii.vtk",m2,binary=False)
meshio.vtk.write("box_meshio_binary.vtk",m2,binary=True)
meshio.write("box_meshio42.vtk",m2,file_format="vtk42")
gmsh.initialize(); gmsh.option.setNumber("General.Terminal",0)
gmsh.model.add("s"); gmsh.model.occ.addRectangle(0,0,0,1,1); gmsh.model.occ.synchronize()
gmsh.option.setNumber("Mesh.MeshSizeMin",0.6)
gmsh.model.mesh.generate(2); 
gmsh.option.setNumber("Mesh.Binary",0); gmsh.write("square_41.msh"); gmsh.finalize()
t=meshio.read("square_41.msh"); 
meshio.write("square.obj",meshio.Mesh(t.points,[c for c in t.cells if c.type=="triangle"]))
